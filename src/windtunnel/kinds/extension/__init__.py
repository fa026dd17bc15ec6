"""What extends the API: custom resource definitions, webhooks and admission policies."""
