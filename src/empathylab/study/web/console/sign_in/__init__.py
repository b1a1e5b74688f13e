"""Who may use the console: accounts, passwords, second factors, sessions and their pages."""
