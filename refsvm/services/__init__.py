"""Services: what all rooms but the reference share: cards, the progress line, workers, the store."""
