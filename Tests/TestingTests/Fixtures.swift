/// The error of a failing body, with a fixed description.
struct Refused: Error, Equatable, CustomStringConvertible {
  var description: String { "refused" }
}
