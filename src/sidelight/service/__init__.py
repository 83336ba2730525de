"""The decision service: HTTP and storage around policies. Needs the extra `service`."""
