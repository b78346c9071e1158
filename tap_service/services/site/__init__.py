"""What belongs to no query: authentication, client addresses, availability, capabilities."""
