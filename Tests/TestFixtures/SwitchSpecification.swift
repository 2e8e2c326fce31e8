package import OperationCore
import Synchronization

/// A condition that a test switches on and off.
package final class SwitchSpecification: OperationRunSpecification, Sendable {
  private struct State {
    var isOn: Bool
    var observers: [Int: @Sendable () -> Void] = [:]
    var lastID = 0
  }

  private let state: Mutex<State>

  package init(_ isOn: Bool) {
    self.state = Mutex(State(isOn: isOn))
  }

  package var observerCount: Int { self.state.withLock { $0.observers.count } }

  /// Switches, and tells the observers.
  package func set(_ isOn: Bool) {
    self.state.withLock { $0.isOn = isOn }
    self.announce()
  }

  /// Tells the observers that something may have changed.
  package func announce() {
    let observers = self.state.withLock { $0.observers.sorted { $0.key < $1.key }.map(\.value) }
    for observer in observers { observer() }
  }

  package func isSatisfied(in context: OperationContext) -> Bool { self.state.withLock { $0.isOn } }

  package func subscribe(
    in context: OperationContext,
    onChange: @escaping @Sendable () -> Void
  ) -> OperationSubscription {
    let id = self.state.withLock { state in
      state.lastID += 1
      state.observers[state.lastID] = onChange
      return state.lastID
    }
    return OperationSubscription { _ = self.state.withLock { $0.observers.removeValue(forKey: id) } }
  }
}
