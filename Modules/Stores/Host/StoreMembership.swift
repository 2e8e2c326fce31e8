package import OperationFoundation

/// The place of a store in the client that has it. The store refers to it, and the client makes it.
package protocol StoreMembership: AnyObject, Sendable {
  /// When the cache drops the store if nothing uses it; nil if it is unknown.
  var evictionDate: Date? { get }

  /// Accepts results of idleness checks with greater numbers. Called before the client has the store.
  func accept(readingsAfter reading: UInt32)

  /// Informs the client that the store has become idle or is in use again.
  func idlenessChanged(to idleness: StoreIdleness)

  /// Informs the client that the store is deallocated.
  func storeIsGone()
}

/// Makes the store that takes the place of one which its client has removed.
///
/// A store refers to the maker of the type of its operation, and keeps the operation inside of what the creator of the
/// client has made of it. So nothing is allocated for a store that is never removed.
package protocol StoreMaker {
  /// Returns the store at the path of a removed one, which the client has or makes.
  ///
  /// - Parameters:
  ///   - runtime: The runtime of the removed store.
  ///   - host: The client.
  /// - Returns: The store; nil, with a report, if the path has a store of another type, and nil if the creator of the
  ///   client has put another operation in the place of the one that it was given.
  static func store(after runtime: StoreRuntime, in host: any StoreHost) -> (any AnyObject & Sendable)?
}

extension StoreRuntime {
  /// Notes how the store that takes the place of this one is made. Called before the store is shared.
  package func note(maker: any StoreMaker.Type) {
    self.links.maker = maker
  }

  /// How the store that takes the place of this one is made; nil if no client has made this one.
  package var maker: (any StoreMaker.Type)? {
    // Without its conformance in the runtime: a store would be eight bytes larger.
    self.links.maker as? any StoreMaker.Type
  }
}

extension StoreRuntime {
  /// Keeps the reason for which the client drops the store, for the event that follows when no owner is left.
  package func noteEviction(_ cause: OperationRunCause) {
    self.withMachine { machine, released in
      released.append(machine.uniqueExtras().content.evictionCause)
      machine.uniqueExtras().content.evictionCause = cause
    }
  }

  package var evictionCause: OperationRunCause? { self.withMachine { $0.extras?.content.evictionCause } }
}
