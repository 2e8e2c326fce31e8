import OperationCore
import Synchronization

/// A specification that a test opens and closes.
final class Door: OperationRunSpecification, Sendable {
  private struct State {
    var isOpen: Bool
    var observers: [Int: @Sendable () -> Void] = [:]
    var lastID = 0
  }

  private let state: Mutex<State>

  init(isOpen: Bool = false) {
    self.state = Mutex(State(isOpen: isOpen))
  }

  func set(_ isOpen: Bool) {
    let observers = self.state.withLock { state in
      state.isOpen = isOpen
      return state.observers.sorted { $0.key < $1.key }.map(\.value)
    }
    for observer in observers { observer() }
  }

  func isSatisfied(in context: OperationContext) -> Bool { self.state.withLock { $0.isOpen } }

  func subscribe(in context: OperationContext, onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    let id = self.state.withLock { state in
      state.lastID += 1
      state.observers[state.lastID] = onChange
      return state.lastID
    }
    return OperationSubscription { _ = self.state.withLock { $0.observers.removeValue(forKey: id) } }
  }
}
