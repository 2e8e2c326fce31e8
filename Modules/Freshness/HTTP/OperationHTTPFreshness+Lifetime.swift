public import OperationFoundation

extension OperationHTTPFreshness {
  /// How long the response is fresh, counted from its origin; nil if its fields do not say so.
  ///
  /// `s-maxage` comes before `max-age` where the value is shared, and both before `Expires`:
  /// [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1).
  ///
  /// - Parameter receivedAt: When the response came. `Expires` is relative to it if the response has no date.
  /// - Returns: The lifetime: zero if it must not be kept or used without asking, or if a field is invalid.
  public func lifetime(receivedAt: Date) -> Duration? {
    if self.forbidsStorage || self.mustBeAsked { return .zero }
    if let cacheControl {
      let maximumAge = (self.isShared ? cacheControl.sharedMaximumAge : nil) ?? cacheControl.maximumAge
      if let maximumAge { return .seconds(maximumAge.number ?? 0) }
    }
    switch self.expiry {
    case nil: return nil
    case .past: return .zero
    case .date(let date): return Self.duration(from: self.date ?? receivedAt, to: date)
    }
  }

  /// How old the response was when it came: the larger of its `Age` and of the time since its date.
  ///
  /// [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.3), for a request that took no time.
  ///
  /// - Parameter receivedAt: When the response came.
  /// - Returns: The age, at least zero.
  public func age(receivedAt: Date) -> Duration {
    let apparentAge: Duration = self.apparentAge(receivedAt)
    return max(apparentAge, .seconds(self.ageField ?? 0))
  }

  private func apparentAge(_ receivedAt: Date) -> Duration {
    // The date of the response that was confirmed says nothing about the one that has confirmed it.
    guard let date = self.date, !self.confirmedWithoutDate else { return .zero }
    return Self.duration(from: date, to: receivedAt)
  }

  /// Whether the value must not be used once it is stale: `must-revalidate`, `no-cache`, `Vary: *`, and what must not be
  /// kept.
  public var forbidsStaleUse: Bool {
    if self.forbidsStorage || self.mustBeAsked { return true }
    guard let cacheControl else { return false }
    if cacheControl.mustRevalidate { return true }
    return self.isShared && (cacheControl.proxyMustRevalidate || cacheControl.sharedMaximumAge != nil)
  }

  /// How long after its lifetime the value is read while a run refreshes it; nil for not at all.
  public var staleWhileRevalidate: Duration? { self.window(self.cacheControl?.staleWhileRevalidate) }

  /// How long after its lifetime the value is read if a run fails; nil for not at all.
  public var staleIfError: Duration? { self.window(self.cacheControl?.staleIfError) }

  private func window(_ seconds: CacheControl.Seconds?) -> Duration? {
    if self.forbidsStaleUse { return nil }
    return seconds?.number.map { .seconds($0) }
  }

  /// The time between two dates, from zero to the largest number of a field.
  private static func duration(from start: Date, to end: Date) -> Duration {
    let seconds = end.timeIntervalSince(start)
    // A date that is no number says nothing.
    return seconds > 0 ? .seconds(min(seconds, Double(DeltaSeconds.maximum))) : .zero
  }
}

extension OperationHTTPFreshness {
  /// Whether the response must not be kept for later requests: `no-store`, and `private` where the value is shared.
  ///
  /// The answer to a request with `Authorization` is like a private one, unless the server permits to share it:
  /// [RFC 9111](https://www.rfc-editor.org/rfc/rfc9111#section-3.5).
  var forbidsStorage: Bool {
    let control = self.cacheControl
    if control?.isNotStored ?? false { return true }
    guard self.isShared else { return false }
    if control?.isPrivate ?? false { return true }
    guard self.isAuthorized else { return false }
    guard let control else { return true }
    return !control.isPublic && !control.mustRevalidate && control.sharedMaximumAge == nil
  }

  /// Whether the value must not be used before the server was asked about it: `no-cache` and `Vary: *`.
  private var mustBeAsked: Bool { self.variesWithAll || self.cacheControl?.isNotUsedUnvalidated ?? false }
}
