"""Services, their addresses and endpoints, ingresses and network policies."""
