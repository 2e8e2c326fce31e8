public import FoundationEssentials

/// Says what date it is, for the dates that states keep and the rules that read them.
public protocol OperationClock {
  /// The date now.
  func now() -> Date
}

extension OperationClock {
  /// A clock that stands still at this clock's present date.
  public func frozen() -> TimeFreezeClock { TimeFreezeClock(date: self.now()) }
}

/// The clock of the system.
public struct SystemTimeClock: OperationClock, Sendable {
  /// Creates a clock.
  public init() {}

  public func now() -> Date { Date() }
}

extension OperationClock where Self == SystemTimeClock {
  /// The clock of the system.
  public static var systemTime: Self { SystemTimeClock() }
}

/// A clock that asks a closure.
public struct CustomOperationClock: OperationClock, Sendable {
  private let date: @Sendable () -> Date

  /// Creates a clock that shows what `date` returns.
  public init(_ date: @escaping @Sendable () -> Date) {
    self.date = date
  }

  public func now() -> Date { self.date() }
}

extension OperationClock where Self == CustomOperationClock {
  /// A clock that shows what `date` returns.
  public static func custom(_ date: @escaping @Sendable () -> Date) -> Self { CustomOperationClock(date) }
}

/// A clock that stands still.
public struct TimeFreezeClock: OperationClock, Sendable {
  /// The date at which the clock stands.
  public let date: Date

  /// Creates a clock that stands still at `date`.
  public init(date: Date) {
    self.date = date
  }

  public func now() -> Date { self.date }
}

extension OperationClock where Self == TimeFreezeClock {
  /// A clock that stands still at `date`.
  public static func timeFreeze(_ date: Date = Date()) -> Self { TimeFreezeClock(date: date) }
}

extension OperationContext {
  /// The clock that dates values and errors. The system's by default.
  public var operationClock: any OperationClock & Sendable {
    get {
      if let date = self.event.frozenDate { return TimeFreezeClock(date: date) }
      return self[OperationClockKey.self]
    }
    set {
      self.event.frozenDate = nil
      self[OperationClockKey.self] = newValue
    }
  }

  private enum OperationClockKey: Key {
    static let defaultValue: any OperationClock & Sendable = SystemTimeClock()
  }

  /// The date by the clock of the context. It spares the usual clocks a box.
  @inlinable
  package var date: Date { self.event.frozenDate ?? self.dateOfRunningClock }

  @usableFromInline var dateOfRunningClock: Date {
    self.isSet(OperationClockKey.self) ? self[OperationClockKey.self].now() : SystemTimeClock().now()
  }

  /// This context with its clock stopped now, so that a state can read it without calling out.
  @usableFromInline
  func stoppingClock() -> OperationContext {
    var context = self
    context.event.frozenDate = self.date
    return context
  }
}
