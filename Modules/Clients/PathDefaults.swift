/// The defaults of a client's operations by the beginnings of their paths.
final class PathDefaults: Sendable {
  typealias Edit = OperationContext.PathDefault

  private let edits = Locked<[OperationPath: Edit]>([:])
  private let hasAny = AtomicFlag(false)

  /// Elements of user types are hashed and compared with the lock held: see ``OperationPath``.
  func set(_ edit: Edit?, matching path: OperationPath) {
    self.edits.withLock { edits, released in
      // The key is kept, so that no path is released here.
      if let edit {
        released.append(edits.updateValue(edit, forKey: path))
      } else if let index = edits.index(forKey: path) {
        released.append(edits.remove(at: index))
      }
      _ = self.hasAny.set(!edits.isEmpty)
    }
  }

  /// Whether there are edits for the operations at any path.
  var areSet: Bool { self.hasAny.isOn }

  /// The edits for an operation at a path, shorter prefixes first.
  func edits(at path: OperationPath) -> [Edit] {
    let edits = self.edits.withLock { $0 }
    if edits.isEmpty { return [] }
    // With few prefixes, comparing them takes less than hashing each beginning of the path.
    if edits.count <= path.count {
      return edits.filter { $0.key.isPrefix(of: path) }.sorted { $0.key.count < $1.key.count }.map(\.value)
    }
    return (0...path.count).compactMap { edits[OperationPath(path[0..<$0])] }
  }
}

extension OperationClient {
  /// The context that a new store at a path begins with.
  @usableFromInline
  func defaultContext(at path: @autoclosure () -> OperationPath) -> OperationContext {
    var context = self.defaultContext
    context.noteNewStore()
    // Making the path takes an allocation.
    guard self.pathDefaults.areSet else { return context }
    let edits = self.pathDefaults.edits(at: path())
    if !edits.isEmpty { context.addPathDefaults(edits) }
    return context
  }

  /// Sets defaults for the operations of stores that are made later at paths that start with `path`.
  ///
  /// ```swift
  /// client.setDefaults(matching: ["posts"]) { context in
  ///   context.operationStaleAfter = .seconds(30)
  ///   context.operationCacheTime = .seconds(600)
  ///   context.operationMaxRetries = 1
  /// }
  /// ```
  ///
  /// The closure edits the context of each new store. The context already has the entries of ``defaultContext``, of the
  /// client's store creator, and of the defaults for shorter prefixes: if several prefixes match a path, a longer one
  /// wins. The modifiers and the `setup` of an operation can replace these defaults. Stores that exist keep their
  /// contexts.
  ///
  /// A limit of retries applies to operations that the store creator retries by default and that have no retry of their
  /// own.
  ///
  /// - Parameters:
  ///   - path: The prefix; the empty path matches all operations. Earlier defaults for exactly this prefix are replaced.
  ///   - edit: Edits the context of a store that is being made. Called once for each store, with no lock held.
  public func setDefaults(matching path: OperationPath, _ edit: @escaping @Sendable (inout OperationContext) -> Void) {
    self.pathDefaults.set(edit, matching: path)
  }

  /// Removes the defaults that were set for exactly this prefix. Stores that exist keep their contexts.
  ///
  /// - Parameter path: The prefix, as it was passed to ``setDefaults(matching:_:)``.
  public func removeDefaults(matching path: OperationPath) {
    self.pathDefaults.set(nil, matching: path)
  }
}
