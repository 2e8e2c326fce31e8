public import Testing

/// Makes tasks wait until a test opens it.
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
  // Separate states, so that an arrival does not check all tasks that wait for the gate to open.
  private let opened: AwaitableState<Bool>
  private let arrived = AwaitableState(0)

  /// Creates a gate.
  public init(isOpen: Bool = false) {
    self.opened = AwaitableState(isOpen)
  }

  /// Whether the gate is open.
  public var isOpen: Bool { self.opened.current }

  /// The number of tasks that have arrived at the gate, including those that have passed it.
  public var arrivalCount: Int { self.arrived.current }

  /// Resumes all waiting tasks, and lets all later ones pass.
  public func open() {
    self.opened.change { $0 = true }
  }
}

extension Gate {
  /// Waits until the gate is open.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: `CancellationError` at once when the task is cancelled before the gate is open; ``WaitTimedOut``, which
  ///   is also an issue of the test.
  public func wait(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    self.arrived.change { $0 += 1 }
    try await self.pass(.cancellable(limit ?? WaitLimit.current), at: sourceLocation)
  }

  /// Waits until the gate is open, even in a cancelled task.
  ///
  /// It also returns when the time limit is exceeded, which is an issue of the test.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  public func waitIgnoringCancellation(
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    self.arrived.change { $0 += 1 }
    // The only error is the time limit, which has been reported already.
    try? await self.pass(.uncancellable(limit ?? WaitLimit.current), at: sourceLocation)
  }

  private func pass(_ limit: AwaitableState<Bool>.Limit, at sourceLocation: SourceLocation) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.opened.wait(limit, for: { _ in "a gate to be opened" }, until: { $0 ? () : nil })
    }
  }

  /// Waits until at least `count` tasks have arrived at the gate, including those that have passed it.
  ///
  /// - Parameters:
  ///   - count: The number of tasks.
  ///   - limit: The longest time to wait; nil for ``WaitLimit/current``.
  ///   - sourceLocation: Where an issue is reported.
  /// - Throws: ``WaitTimedOut``, which is also an issue of the test, or `CancellationError`.
  public func arrivals(
    count: Int,
    within limit: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await recordingTimeOut(at: sourceLocation) {
      try await self.arrived.wait(.cancellable(limit ?? WaitLimit.current)) { arrived in
        "at least \(count) tasks to arrive at a gate; \(arrived) have arrived"
      } until: { arrived in
        arrived >= count ? () : nil
      }
    }
  }
}
