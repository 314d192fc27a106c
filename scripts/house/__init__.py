"""What the scripts share: set-up, the demo house, the release."""
