// developer.apple.com/documentation/network/nwpathmonitor, /nwpath

public import Dispatch

public final class NWPathMonitor {
  public var pathUpdateHandler: (@Sendable (NWPath) -> Void)?

  public init() { leftOut() }

  public func start(queue: DispatchQueue) { leftOut() }

  public func cancel() { leftOut() }
}

public struct NWPath: Equatable, Sendable {
  public enum Status: Equatable, Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public var status: NWPath.Status { leftOut() }
}

func leftOut() -> Never { fatalError("Only Apple's systems have this function.") }
