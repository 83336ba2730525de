"""Plans that know no horizon."""
