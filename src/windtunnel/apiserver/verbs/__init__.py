"""What can be done to an object, for every kind alike."""
