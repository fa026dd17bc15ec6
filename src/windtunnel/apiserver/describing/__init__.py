"""What the server says of itself: discovery, OpenAPI, version and health."""
