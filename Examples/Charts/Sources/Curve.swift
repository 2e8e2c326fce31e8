/// A line through the points whose values are known.
public struct Curve {
  /// A time in seconds, and the value at that time; nil where it is unknown.
  public typealias Point = (time: Double, value: Double?)

  /// The classes of its style.
  let style: String
  /// The points, by time.
  public let points: [Point]

  public init(_ style: String, _ points: [Point]) {
    self.style = style
    self.points = points
  }
}
