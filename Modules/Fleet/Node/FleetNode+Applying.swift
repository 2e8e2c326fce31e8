internal import OperationCore
internal import OperationTags

/// Invalidates the stores of the client for other nodes. Nothing of it is sent again.
extension FleetNode {
  func invalidateEverything() {
    guard let client = self.joinedClient else { return }
    client.noteInvalidation(of: [.path([])], from: self)
    self.invalidate(Array(client.stores()), "everything by another node")
  }

  /// Invalidates what the stores have got while the backend had not answered for the first time.
  ///
  /// Another node may have invalidated it meanwhile. A shared run that waits for the answer has looked up nothing yet.
  func invalidateValuesSinceJoining() {
    guard let client = self.joinedClient else { return }
    let stores = client.stores()
      .filter { store in
        store.isStale ? store.state.isLoading && store.context.fleetRecord == nil : store.state.valueUpdateCount > 0
      }
    self.invalidate(stores, "everything by other nodes before the first answer of the backend")
  }

  /// - Complexity: O(*n*) in the number of stores that are touched. For a path or a tag with an element other than a
  ///   string or an `Int`, in the number of stores below the part before it, or of tags with its name.
  func invalidate(_ subjects: [FleetSubject]) {
    guard let client = self.joinedClient, !subjects.isEmpty else { return }
    let meanings = subjects.map { (subject: $0, meaning: FleetNames.meaning(of: $0)) }
    // Before the stores are looked up: a value may arrive meanwhile.
    client.noteInvalidation(
      of: meanings.compactMap { FleetNames.invalidation($0.subject, meaning: $0.meaning) },
      from: self
    )
    var (stores, known): ([OpaqueOperationStore], Set<ObjectIdentifier>) = ([], [])
    var otherTags: Set<FleetSubject> = []
    var tags: [OperationTag] = []
    for (subject, meaning) in meanings {
      switch meaning {
      case .prefix(let path, let rest):
        for store in client.stores(matching: path) where rest.isEmpty || FleetNames.has(store.path, prefix: subject) {
          if known.insert(store.identity).inserted { stores.append(store) }
        }
      case .tag(let tag): tags.append(tag)
      case .otherTag: otherTags.insert(subject)
      case .unknown: break
      }
    }
    if !otherTags.isEmpty {
      let names = Set(otherTags.compactMap { FleetNames.name(ofTag: $0) })
      tags += client.shownTags(named: names)
        .filter { tag in
          FleetNames.subject(ofTag: tag.path, reporting: false).map { otherTags.contains($0) } ?? false
        }
    }
    self.invalidate(stores, "\(subjects.count) prefixes or tags by another node")
    if !tags.isEmpty { client.invalidateLocally(tagged: tags) }
  }

  private func invalidate(_ stores: [OpaqueOperationStore], _ subject: String) {
    if !stores.isEmpty { _ = OperationClient.invalidate(stores, subject: { subject }, isolation: nil) }
  }
}
