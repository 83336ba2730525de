"""Where a service keeps its events: one interface, an embedded store and PostgreSQL."""
