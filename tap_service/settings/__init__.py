"""The settings by subject; ``tap_service.config.Config`` has all of them."""
