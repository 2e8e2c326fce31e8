/// The error of a body that fails.
struct Refused: Error {}
