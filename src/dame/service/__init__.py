"""The collection service: plans, questions, reports and tallies in a durable store, behind HTTP.

It contains no arithmetic of its own: it drives the protocol's state machine (`dame.first`, `dame.next`) and keeps what
that says. See docs/deploy.md.
"""
