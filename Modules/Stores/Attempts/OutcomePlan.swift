/// The modifiers that bound or replace the outcome of an operation, as its setup has found them.
struct OutcomePlan: Sendable {
  /// The innermost modifier that offers a place for attempts.
  var innermost: OutcomeModifierIdentifier?
  /// The deadlines, from the outermost to the innermost.
  var deadlines: [PlannedDeadline] = []
}

extension OutcomePlan: CustomStringConvertible {
  var description: String { "\(self.deadlines.count) deadlines" }
}

/// The place inside of a modifier for the retry that a client applies by default.
///
/// It is stored apart from the plan, so that a run without such a retry inside finds that out at once.
@usableFromInline
struct PlacedAttempts: Sendable {
  let owner: UInt64
  let id: OutcomeModifierIdentifier
  let maker: any AttemptMaker
}

extension PlacedAttempts: CustomStringConvertible {
  @usableFromInline var description: String { "in \(self.id)" }
}

extension OperationContext {
  var outcomePlan: OutcomePlan {
    get { self[OutcomePlanKey.self] }
    set { self[OutcomePlanKey.self] = newValue }
  }

  var hasOutcomePlan: Bool { self.isSet(OutcomePlanKey.self) }

  /// Whether the attempts of a retry are made inside of a modifier.
  @inlinable
  package var hasPlacedAttempts: Bool { self.isSet(PlacedAttemptsKey.self) }

  private var placedAttempts: PlacedAttempts? {
    get { self[PlacedAttemptsKey.self] }
    set { self[PlacedAttemptsKey.self] = newValue }
  }

  /// Makes the attempts inside of a modifier; nil if they have no place there.
  @usableFromInline
  func attemptMaker(for id: OutcomeModifierIdentifier) -> (any AttemptMaker)? {
    guard let placed = self.placedAttempts, placed.id == id else { return nil }
    return placed.maker
  }

  enum OutcomePlanKey: Key {
    static let defaultValue = OutcomePlan()
    static let belongsToSetup = true
  }

  @usableFromInline
  enum PlacedAttemptsKey: Key {
    @usableFromInline static let defaultValue: PlacedAttempts? = nil
    @usableFromInline static let belongsToSetup = true
  }
}

// MARK: - Retries that clients apply

extension OperationContext {
  /// Forgets the offers of places outside of a retry. Called before the setup of the operation inside.
  package mutating func forgetOfferedPlaces() {
    if self.hasOutcomePlan, self.outcomePlan.innermost != nil { self.outcomePlan.innermost = nil }
  }

  /// Puts the attempts of a retry into the innermost place that the operation inside has offered.
  ///
  /// - Parameters:
  ///   - owner: The number of the retry.
  ///   - maker: Makes the attempts there. Evaluated only for a place.
  /// - Returns: What makes the attempts; nil without a place.
  package mutating func placeAttempts<Maker: AttemptMaker>(
    ofRetry owner: UInt64,
    _ maker: @autoclosure () -> Maker
  ) -> Maker? {
    guard self.hasOutcomePlan, let id = self.outcomePlan.innermost else { return nil }
    let maker = maker()
    self.placedAttempts = PlacedAttempts(owner: owner, id: id, maker: maker)
    return maker
  }

  /// Whether the attempts of a retry are made in a place inside of it.
  package func hasPlacedAttempts(ofRetry owner: UInt64) -> Bool {
    self.placedAttempts?.owner == owner
  }
}
