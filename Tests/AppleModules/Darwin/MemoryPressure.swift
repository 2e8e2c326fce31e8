// What Dispatch has on Apple's systems alone: developer.apple.com/documentation/dispatch/dispatchsource. It is here, because the
// module Dispatch itself is there on Linux.

public import Dispatch

extension DispatchSource {
  public struct MemoryPressureEvent: OptionSet, RawRepresentable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static var normal: DispatchSource.MemoryPressureEvent { leftOut() }
    public static var warning: DispatchSource.MemoryPressureEvent { leftOut() }
    public static var critical: DispatchSource.MemoryPressureEvent { leftOut() }
    public static var all: DispatchSource.MemoryPressureEvent { leftOut() }
  }

  public class func makeMemoryPressureSource(
    eventMask: DispatchSource.MemoryPressureEvent,
    queue: DispatchQueue? = nil
  ) -> any DispatchSourceMemoryPressure { leftOut() }
}

public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {}

extension DispatchSourceMemoryPressure {
  public var data: DispatchSource.MemoryPressureEvent { leftOut() }
}
