"""The release folder, its signature, and the owner's account."""
