"""Plans: what a study is asked to do, its rounds, and how both travel as JSON."""
