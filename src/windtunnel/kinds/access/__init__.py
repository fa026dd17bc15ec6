"""Who may do what: roles, bindings, service accounts and certificate requests."""
