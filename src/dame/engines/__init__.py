"""Tables of records, reduced to people: DuckDB on one machine, Spark on many, plain Python as the oracle of both."""
