// /os/ossignposter, /os/ossignpostid, /os/ossignpostintervalstate

public struct OSSignposter: Sendable {
  public var isEnabled: Bool { leftOut() }

  public init(subsystem: String, category: String) { leftOut() }

  public func makeSignpostID() -> OSSignpostID { leftOut() }

  public func beginInterval(
    _ name: StaticString,
    id: OSSignpostID = .exclusive,
    _ message: SignpostMetadata
  ) -> OSSignpostIntervalState { leftOut() }

  public func endInterval(_ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata) {
    leftOut()
  }

  public func emitEvent(_ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata) {
    leftOut()
  }
}

public struct OSSignpostID: Sendable {
  public static let exclusive = OSSignpostID()
}

public final class OSSignpostIntervalState {}

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
