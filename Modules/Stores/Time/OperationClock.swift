public import OperationFoundation

/// Returns the current date, for the dates in states and the rules that read them.
public protocol OperationClock {
  /// Returns the current date.
  func now() -> Date
}

extension OperationClock {
  /// Returns a clock that always shows this clock's current date.
  public func frozen() -> TimeFreezeClock { TimeFreezeClock(date: self.now()) }
}

/// The system clock.
public struct SystemTimeClock: OperationClock, Sendable {
  /// Creates a clock.
  public init() {}

  public func now() -> Date { Date() }
}

extension OperationClock where Self == SystemTimeClock {
  /// The system clock.
  public static var systemTime: Self { SystemTimeClock() }
}

/// A clock that shows the date that a closure returns.
public struct CustomOperationClock: OperationClock, Sendable {
  private let date: @Sendable () -> Date

  /// Creates a clock that shows the date that `date` returns.
  public init(_ date: @escaping @Sendable () -> Date) {
    self.date = date
  }

  public func now() -> Date { self.date() }
}

extension OperationClock where Self == CustomOperationClock {
  /// Returns a clock that shows the date that `date` returns.
  public static func custom(_ date: @escaping @Sendable () -> Date) -> Self { CustomOperationClock(date) }
}

/// A clock that always shows the same date.
public struct TimeFreezeClock: OperationClock, Sendable {
  /// The date that the clock shows.
  public let date: Date

  /// Creates a clock that always shows `date`.
  public init(date: Date) {
    self.date = date
  }

  public func now() -> Date { self.date }
}

extension OperationClock where Self == TimeFreezeClock {
  /// Returns a clock that always shows `date`.
  public static func timeFreeze(_ date: Date = Date()) -> Self { TimeFreezeClock(date: date) }
}

extension OperationContext {
  /// The clock for the dates of values and errors. The system clock by default.
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

  /// The current date of the context's clock. Avoids boxing the usual clocks.
  @usableFromInline package var date: Date { self.event.frozenDate ?? self.dateOfRunningClock }

  var dateOfRunningClock: Date {
    self.isSet(OperationClockKey.self) ? self[OperationClockKey.self].now() : SystemTimeClock().now()
  }

  /// Freezes the clock now, so that reading the date calls no user code.
  mutating func stopClock() {
    self.event.frozenDate = self.date
  }

  /// Returns this context with its clock frozen now.
  func stoppingClock() -> OperationContext {
    var context = self
    context.stopClock()
    return context
  }
}
