/// A condition with the value of the last element of an async sequence of Booleans.
///
/// Iteration starts when the condition is first evaluated or subscribed to. All copies of the specification share one
/// iteration, which is cancelled when the last copy is released.
public struct AsyncSequenceRunSpecification: OperationRunSpecification, Sendable {
  private let follower: SequenceFollower

  /// Creates a condition.
  ///
  /// - Parameters:
  ///   - sequence: The values of the condition. After the sequence ends or throws, its last element remains in effect.
  ///   - initialValue: The value of the condition before the first element.
  public init<Base: AsyncSequence & Sendable>(sequence: Base, initialValue: Bool) where Base.Element == Bool {
    self.follower = SequenceFollower(initialValue: initialValue) { receive in
      do {
        for try await element in sequence {
          guard receive(element) else { return }
        }
      } catch {
        // A specification cannot report errors. The last element remains in effect.
        return
      }
    }
  }

  public func isSatisfied(in context: OperationContext) -> Bool { self.follower.value }

  public func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    self.follower.subscribe(onChange)
  }
}

extension OperationRunSpecification where Self == AsyncSequenceRunSpecification {
  /// A condition with the value of the last element of `sequence`, or `initialValue` before the first.
  public static func observing<Base: AsyncSequence & Sendable>(
    sequence: Base,
    initialValue: Bool
  ) -> Self where Base.Element == Bool {
    AsyncSequenceRunSpecification(sequence: sequence, initialValue: initialValue)
  }
}

/// Iterates a sequence and stores its last element.
private final class SequenceFollower: Sendable {
  private struct State: Sendable {
    var value: Bool
    var hasBegun = false
    var task: Task<Void, Never>?
    var observers = Handlers<Void>()
  }

  private let state: Locked<State>
  private let iterate: @Sendable (@escaping @Sendable (Bool) -> Bool) async -> Void

  init(
    initialValue: Bool,
    iterate: @escaping @Sendable (@escaping @Sendable (Bool) -> Bool) async -> Void
  ) {
    self.state = Locked(State(value: initialValue))
    self.iterate = iterate
  }

  deinit {
    self.state.withLock { $0.task }?.cancel()
  }

  var value: Bool {
    self.beginIfNeeded()
    return self.state.withLock { $0.value }
  }

  func subscribe(_ observer: @escaping @Sendable () -> Void) -> OperationSubscription {
    let id = self.state.withLock { $0.observers.add(Handlers.Handler(observer)) }
    self.beginIfNeeded()
    return OperationSubscription {
      self.state.withLock { state, released in released.append(state.observers.remove(id)) }
    }
  }

  private func beginIfNeeded() {
    let hasBegun = self.state.withLock { state in
      defer { state.hasBegun = true }
      return state.hasBegun
    }
    if hasBegun { return }
    let task = Task { [iterate, weak self] in
      await iterate { [weak self] element in self?.receive(element) ?? false }
    }
    self.state.withLock { $0.task = task }
  }

  private func receive(_ element: Bool) -> Bool {
    let observers = self.state.withLock { state in
      guard state.value != element else { return [Handlers<Void>.Handler]() }
      state.value = element
      return state.observers.all
    }
    for observer in observers { observer.call(()) }
    return true
  }
}
