"""CronJobs: when they are due, what they start, and what they keep of it."""
