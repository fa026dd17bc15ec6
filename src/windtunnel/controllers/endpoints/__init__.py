"""Where services answer: slices of their pods' addresses, mirrors of hand-made ones, Endpoints."""
