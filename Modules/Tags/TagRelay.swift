package import OperationCore

extension OperationClient {
  /// Remembers an invalidation of tags and passes it on, before the stores are looked up.
  @discardableResult
  func noteInvalidation(of tags: [OperationTag]) -> [any InvalidationRelay] {
    self.noteInvalidation(of: tags.map { .tag($0.path) })
  }

  /// The tags with these names that values of the client's stores have.
  ///
  /// - Complexity: O(*n*) in the number of all tags of the client.
  package func shownTags(named names: Set<String>) -> [OperationTag] {
    guard let index = self.attachment(of: TagIndexOwner.self)?.index else { return [] }
    return index.shownTags.filter { names.contains($0.content.name) }
  }

  /// Marks stores as stale for an invalidation that another process has made, which is not passed on.
  package func invalidateLocally(tagged tags: [OperationTag]) {
    let stores = self.storesInOrder(tagged: tags)
    if !stores.isEmpty { _ = Self.invalidate(stores, subject: { tags.explanation }, isolation: nil) }
  }
}

extension OperationTag {
  /// Creates the tag with a path: see ``path``. Nil for a path of another form.
  package init?(path: OperationPath) {
    guard path.count == 1 || path.count == 2, let name = path[0].base as? String else { return nil }
    guard path.count == 2 else {
      self = OperationTag(name)
      return
    }
    let identifier: any Hashable & Sendable = path[1].base
    self = Self.opened(name, identifier)
  }

  // A generic parameter, so that the existential is opened.
  private static func opened(_ name: String, _ identifier: some Hashable & Sendable) -> OperationTag {
    .entity(name, identifier)
  }
}

extension OperationContext {
  /// The tags of a value that a run of the operation has returned, or of one page of it.
  package func tags<Part: Sendable>(of value: Part) -> [OperationTag] {
    guard let known = self.tagObserver?.tags else { return [] }
    var tags = known.constants
    for case let rule as ValueTags<Part> in known.rules { tags += rule.tags(value) }
    return tags.withoutDuplicates
  }

  /// The observer that the `tagged` modifiers of the operation share.
  var tagObserver: TagObserver? {
    for case let observer as TagObserver in self.operationObservers { return observer }
    return nil
  }
}
