public import Testing

/// A place where tasks wait until a test lets them go on.
///
/// ```swift
/// let gate = Gate()
/// let fetch = Task { try await store.fetch() }  // Its query calls `try await gate.wait()`.
/// try await gate.arrivals(count: 1)
/// #expect(store.isLoading)
/// gate.open()
/// ```
///
/// A gate opens once and stays open.
public final class Gate: Sendable {
  // Apart from each other, so that an arrival does not have to look at all who wait for the gate to open.
  private let door: WaitingRoom<Bool>
  private let register = WaitingRoom(0)

  /// Creates a gate.
  public init(isOpen: Bool = false) {
    self.door = WaitingRoom(isOpen)
  }

  /// Whether the gate is open.
  public var isOpen: Bool { self.door.state }

  /// How many tasks have come to the gate, those included that have gone on since.
  public var arrivalCount: Int { self.register.state }

  /// Lets all go on who wait, and all who come later.
  public func open() {
    self.door.change { $0 = true }
  }
}

extension Gate {
  /// Waits until the gate is open.
  ///
  /// - Parameter limit: How long to wait; nil for ``WaitLimit/current``.
  /// - Parameter sourceLocation: Where an issue is reported.
  /// - Throws: `CancellationError` at once when the task is cancelled before the gate is open; ``WaitTimedOut``, which is an
  ///   issue of the test as well.
  public func wait(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    self.register.change { $0 += 1 }
    try await self.pass(.cancellable(limit ?? WaitLimit.current), at: sourceLocation)
  }

  /// Waits until the gate is open, also in a cancelled task.
  ///
  /// When the time limit comes first, which is an issue of the test, it returns.
  ///
  /// - Parameter limit: How long to wait; nil for ``WaitLimit/current``.
  /// - Parameter sourceLocation: Where an issue is reported.
  public func waitIgnoringCancellation(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    self.register.change { $0 += 1 }
    // The only error is the time limit, which is reported by then.
    try? await self.pass(.uncancellable(limit ?? WaitLimit.current), at: sourceLocation)
  }

  private func pass(_ patience: WaitingRoom<Bool>.Patience, at sourceLocation: SourceLocation) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.door.wait(patience, for: { _ in "a gate to be opened" }, until: { $0 ? () : nil })
    }
  }

  /// Waits until at least `count` tasks have come to the gate, those included that have gone on since.
  ///
  /// - Parameters:
  ///   - count: How many.
  ///   - limit: How long to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is an issue of the test as well, or `CancellationError`.
  public func arrivals(
    count: Int,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.register.wait(.cancellable(limit ?? WaitLimit.current)) { arrived in
        "at least \(count) to come to a gate; \(arrived) have come"
      } until: { arrived in
        arrived >= count ? () : nil
      }
    }
  }
}
