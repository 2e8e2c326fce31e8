public import OperationCore
internal import Synchronization

/// The account that an operation belongs to. In events and explanations it is shown by its type.
public struct Account: Hashable, Sendable, OperationSecret {
  /// The name that its user signs in with.
  public let name: String

  public init(_ name: String) {
    self.name = name
  }
}

/// Evicts the idle stores of an account when its user signs out.
///
/// ```swift
/// let signOuts = SignOuts()
/// let cache = OperationClient.DefaultStoreCache(evictionTrigger: signOuts)
/// let query = Inbox().context { $0.account = account }
/// ```
public final class SignOuts: OperationClient.EvictionTrigger, CustomStringConvertible {
  private typealias Evict = @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void

  private struct Caches {
    var evictions: [Int: Evict] = [:]
    var lastNumber = 0
  }

  private let caches = Mutex(Caches())

  public init() {}

  /// The reason of the evictions in events.
  public var description: String { "signing out" }

  /// Evicts the stores of an account.
  public func signOut(_ account: Account) {
    for evict in self.caches.withLock({ Array($0.evictions.values) }) { evict { $0.account == account } }
  }

  public func subscribe(
    _ evict: @escaping @Sendable (_ isEvicted: (OperationContext) -> Bool) -> Void
  ) -> OperationSubscription {
    let number = self.caches.withLock { caches in
      caches.lastNumber += 1
      caches.evictions[caches.lastNumber] = evict
      return caches.lastNumber
    }
    return OperationSubscription { [weak self] in
      let eviction = self?.caches.withLock { $0.evictions.removeValue(forKey: number) }
      _ = eviction
    }
  }
}

extension OperationContext {
  private enum AccountKey: Key {
    static let defaultValue: Account? = nil
  }

  /// The account that the operation belongs to; nil for what all users see.
  public var account: Account? {
    get { self[AccountKey.self] }
    set { self[AccountKey.self] = newValue }
  }
}
