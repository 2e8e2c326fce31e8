internal import OperationCore

/// A store that is followed beyond its removal from its client: to the client's next store at the path.
final class FollowedStore<State: OperationState & Sendable>: Sendable {
  private let current: Locked<OperationStore<State>>

  init(_ store: OperationStore<State>) {
    self.current = Locked(store)
  }

  /// The store that is followed now.
  var store: OperationStore<State> { self.current.withLock { $0 } }

  /// Subscribes to the store and to those after it, and calls a closure after each change of the state.
  func subscribe(calling onChange: @escaping @Sendable () -> Void) -> OperationSubscription {
    let link = Link(self.store)
    self.follow(self.store, with: link, onChange)
    return OperationSubscription { link.end() }
  }

  private func follow(_ store: OperationStore<State>, with link: Link, _ onChange: @escaping @Sendable () -> Void) {
    guard link.begin(with: store) else { return }
    let handler = OperationEventHandler<State>(
      onStateChanged: { _, _ in onChange() },
      onStoreRemoved: { [weak store] _ in
        store?.withNextStore { next in
          self.move(to: next)
          self.follow(self.store, with: link, onChange)
        }
      }
    )
    link.keep(store.subscribe(enqueuing: handler), to: store)
  }

  /// Follows another store, unless another subscription has found it before.
  private func move(to next: OperationStore<State>) {
    self.current.withLock { store, released in
      guard store.isRemoved else { return }
      released.append(store)
      store = next
    }
  }

  /// The subscription to the store that one subscriber has at the moment.
  private final class Link: Sendable {
    private struct Content: Sendable {
      /// Nil when the subscriber has left.
      var store: OperationStore<State>?
      var subscription: OperationSubscription?
    }

    private let content: Locked<Content>

    init(_ store: OperationStore<State>) {
      self.content = Locked(Content(store: store))
    }

    /// Notes the store that is about to be subscribed to. Returns false when the subscriber has left.
    func begin(with store: OperationStore<State>) -> Bool {
      self.content.withLock { content, released in
        guard content.store != nil else { return false }
        released.append(content)
        content = Content(store: store)
        return true
      }
    }

    func keep(_ subscription: OperationSubscription, to store: OperationStore<State>) {
      let isKept = self.content.withLock { content in
        guard content.store === store else { return false }
        content.subscription = subscription
        return true
      }
      if !isKept { subscription.cancel() }
    }

    func end() {
      let former = self.content.withLock { content in
        defer { content = Content() }
        return content
      }
      former.subscription?.cancel()
    }
  }
}
