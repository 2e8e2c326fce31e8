// /os/signpostmetadata, /os/osloginterpolation, /os/oslogprivacy

/// A message, which has to be a literal.
public struct SignpostMetadata: ExpressibleByStringInterpolation, ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { leftOut() }

  public init(stringInterpolation: OSLogInterpolation) { leftOut() }
}

public struct OSLogInterpolation: StringInterpolationProtocol {
  public init(literalCapacity: Int, interpolationCount: Int) { leftOut() }

  public mutating func appendLiteral(_ literal: String) { leftOut() }

  public mutating func appendInterpolation(
    _ argumentString: @autoclosure @escaping () -> String,
    privacy: OSLogPrivacy = .auto
  ) { leftOut() }

  public mutating func appendInterpolation(
    _ number: @autoclosure @escaping () -> Int,
    privacy: OSLogPrivacy = .auto
  ) { leftOut() }
}

public struct OSLogPrivacy: Sendable {
  public static var auto: OSLogPrivacy { leftOut() }
  public static var `public`: OSLogPrivacy { leftOut() }
}
