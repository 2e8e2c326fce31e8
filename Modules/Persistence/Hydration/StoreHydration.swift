internal import OperationCore
internal import OperationFoundation

/// A store with a value to hand over, without the type of its state.
protocol HydratableStore: Sendable {
  /// The key and the value of the store; nil if it has none that may be handed over.
  func dehydrated() -> (key: String, entry: DehydratedValues.Entry)?

  /// The key of the store's value; nil without one.
  var key: String? { get }

  /// Gives a value to the store, unless the store's own value is newer.
  ///
  /// - Parameters:
  ///   - entry: The value.
  ///   - epoch: What the value has seen of this process.
  /// - Returns: Whether the store has taken it.
  func hydrate(with entry: DehydratedValues.Entry, seen epoch: InvalidationEpoch) -> HydrationOutcome
}

/// Whether a store has taken a value that was given to it.
enum HydrationOutcome: Sendable {
  case applied
  /// The value of the store is newer, or of the same date.
  case outdated
  /// The value cannot be used. The reason was reported.
  case dropped
}

/// Hands the value of one store over, and takes values over.
final class StoreHydration<State: RestorableState & Sendable>: Sendable where State.Restoration: Codable {
  private struct Place: Sendable {
    let controls: OperationControls<State>
    let key: String
  }

  private struct Progress: Sendable {
    /// Nil before a store uses this object, and when it has been released.
    var place: Place?
    /// Whether a store uses this object. A run that makes one with its context does not use it.
    var isClaimed = false
  }

  private let settings: HydrationSettings<State>
  private let progress = Locked(Progress())

  init(_ settings: HydrationSettings<State>) {
    self.settings = settings
  }
}

extension StoreHydration: OperationController {
  func control(with controls: OperationControls<State>) -> OperationSubscription {
    let isClaimed = self.progress.withLock { progress in
      defer { progress.isClaimed = true }
      return progress.isClaimed
    }
    guard !isClaimed, let client = controls.context.operationClient else { return .empty }
    let place: Place
    do throws(NoStorageKey) {
      place = Place(controls: controls, key: try StorageKey.value(named: self.settings.name, at: controls.path))
    } catch {
      if client.persistence.isFirst(error) { error.report(at: controls.path) }
      return .empty
    }
    self.progress.withLock { $0.place = place }
    let hydration = client.hydration
    hydration.apply(to: self, key: place.key)
    return OperationSubscription { [weak hydration] in
      hydration?.storeWasReleased(place.key, with: controls.stateWithoutLayers.valueLastUpdatedAt)
      // A strong reference would be a cycle: the context of the store keeps this object.
      let taken = self.progress.withLock { $0.place.take() }
      _ = consume taken  // Released after unlocking.
    }
  }
}

extension StoreHydration: HydratableStore {
  var key: String? { self.progress.withLock { $0.place }?.key }

  func dehydrated() -> (key: String, entry: DehydratedValues.Entry)? {
    guard let place = self.progress.withLock({ $0.place }) else { return nil }
    let (state, stamp) = place.controls.stampedState
    guard stamp.mayLeaveStore, let restoration = state.restoration else { return nil }
    if let isExcluded = self.settings.isExcluded, let value = state.restorableValue, isExcluded(value) { return nil }
    let mark = ValueMark(isInvalidated: place.controls.isInvalidated || stamp.kind == .partial)
    let persisted = PersistedState(restoration: restoration, mark: mark)
    do {
      let bytes = try Envelope.write(persisted, version: self.settings.version)
      let text = String(decoding: bytes, as: UTF8.self)
      return (place.key, DehydratedValues.Entry(date: State.valueDate(of: restoration), text: text))
    } catch {
      OperationWarning(
        code: .valueNotEncoded,
        severity: .failure,
        message: """
          The value of the operation at \(place.controls.path) with the name "\(self.settings.name)" is not handed over, \
          because it cannot be encoded: \(ShownText.ofEncoding(error))
          """
      ).report()
      return nil
    }
  }

  func hydrate(with entry: DehydratedValues.Entry, seen epoch: InvalidationEpoch) -> HydrationOutcome {
    guard let place = self.progress.withLock({ $0.place }) else { return .outdated }
    // Where possible, this is decided without decoding the value. A yielded value may be taken back.
    let (own, stamp) = place.controls.stampedState
    if stamp.kind != .partial, let date = own.valueLastUpdatedAt, entry.date.map({ $0 <= date }) ?? true {
      return .outdated
    }
    let log = place.controls.context.operationClient?.invalidations
    let isLate = log?.concerns(path: place.controls.path, since: epoch) ?? false
    // What has seen more is newer, whatever the dates say.
    let hasSeenMore = place.controls.stateWithoutLayers.valueUpdateCount > 0 && !place.controls.isInvalidated
    if isLate, hasSeenMore { return .outdated }
    do throws(DropReason) {
      let persisted = try Envelope.read(
        State.Restoration.self,
        from: Array(entry.text.utf8),
        version: self.settings.version
      )
      let isApplied = place.controls.restoreNewer(
        persisted.restoration,
        isInvalidated: isLate || persisted.mark.isInvalidated,
        seen: epoch
      )
      return isApplied ? .applied : .outdated
    } catch {
      OperationWarning(
        code: .storedValueDropped,
        severity: .failure,
        message: """
          The value that was handed over for the operation at \(place.controls.path) with the name \
          "\(self.settings.name)" is dropped: \(error).
          """
      ).report()
      return .dropped
    }
  }
}
