public import OperationCore
public import OperationPagination

extension QueryRequest {
  /// Says which parts of the value are entities: an edit of one shows in every value of the client that has it.
  ///
  /// ```swift
  /// let post = PostQuery(id: 7).entities { $0.one(\.self) }
  /// let feed = FeedQuery().entities { $0.each(\.self) }
  /// ```
  ///
  /// What a run returns, a set, and an edit by ``OperationMutation/MutationRequest/editsEntity(_:id:optimistically:result:)``
  /// replace the entity in all values of the client that say that they have it. The newest wins: see
  /// <doc:OperationEntities>. The values keep their dates and stay as stale as they are.
  ///
  /// Apply it outside of `.sharedInFleet()` and of `.fallback(_:)`. A derived query has none of its own: it follows its
  /// sources. One that is given some reports it.
  ///
  /// - Parameter describe: Names the entities of a value. It is called once, here.
  /// - Returns: The query with the entities.
  public func entities(
    _ describe: (inout EntityParts<Value>) -> Void
  ) -> ModifiedOperation<Self, EntityReading<Self, Value>> {
    self.modifier(EntityReading(EntityParts(describe)) { value, newest in newest(value) })
  }
}

extension PaginatedRequest {
  /// Says which parts of a page are entities: an edit of one shows in every value of the client that has it.
  ///
  /// ```swift
  /// let feed = FeedQuery().entities { page in page.each(\.posts) }
  /// ```
  ///
  /// See ``OperationCore/QueryRequest/entities(_:)``.
  ///
  /// - Parameter describe: Names the entities of the value of a page. It is called once, here.
  /// - Returns: The operation with the entities.
  public func entities(
    _ describe: (inout EntityParts<PageValue>) -> Void
  ) -> ModifiedOperation<Self, EntityReading<Self, PageValue>> {
    self.modifier(
      EntityReading(EntityParts(describe)) { value, newest in
        func replaced(_ page: Page<PageID, PageValue>) -> Page<PageID, PageValue> {
          Page(id: page.id, value: newest(page.value))
        }
        return switch value {
        case .initialPage(let page): .initialPage(replaced(page))
        case .nextPage(let page): .nextPage(page.map(replaced))
        case .previousPage(let page): .previousPage(page.map(replaced))
        case .allPages(let pages): .allPages(pages.reduce(into: []) { $0.append(replaced($1)) })
        }
      }
    )
  }
}

/// The modifier that `.entities` applies: lets the entities of a value be the newest that the client knows.
public struct EntityReading<Operation: StatefulOperationRequest, Part: Sendable>: OperationModifier {
  private let parts: EntityParts<Part>
  private let replace: @Sendable (Operation.Value, (Part) -> Part) -> Operation.Value
  private let observer: @Sendable (EntityParts<Part>) -> EntityObserver

  fileprivate init(
    _ parts: EntityParts<Part>,
    _ replace: @escaping @Sendable (Operation.Value, (Part) -> Part) -> Operation.Value
  ) where Operation.State: EntityState, Operation.State.ValuePart == Part {
    self.parts = parts
    self.replace = replace
    self.observer = { parts in
      EntityObserver { store, client in
        parts.groups.map { $0.member(of: store, in: client, as: Operation.State.self) }
      }
    }
  }

  public static var beginsAtOnce: Bool { true }

  public var sourceText: String { ".entities { … }" }

  public func setup(context: inout OperationContext, using operation: Operation) {
    context.addRunWrapper(EntityRunWrapper())
    context.addEntriesToOutcomes()
    context.operationObservers.append(self.observer(self.parts))
    operation.setup(context: &context)
  }

  public func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Value, Operation.Failure>
  ) async throws(Operation.Failure) -> Operation.Value {
    guard let client = context.operationClient else {
      return try await operation.run(isolation: isolation, in: context, with: continuation)
    }
    let number = context[EntityRunNumberKey.self] ?? EntityClock.next()
    let newest = OperationContinuation<Operation.Value, Operation.Failure> { result, yieldContext in
      let result = result.map { self.newest(in: $0, from: .partial(number), of: client, context) }
      continuation.yield(with: result, using: yieldContext)
    }
    let value = try await operation.run(isolation: isolation, in: context, with: newest)
    // A value that was made of others may be older than its run.
    if context.outcomeHasSources {
      context.addToOutcome(.derived, for: EntityPassageKey.self)
      return value
    }
    context.addToOutcome(.compared, for: EntityPassageKey.self)
    let stamp = context.outcomeStamp
    // A fallback is not what the service has.
    let isReading = stamp.kind == .final && !stamp.isUnconfirmed
    return self.newest(in: value, from: isReading ? .run(number, context.date) : .partial(number), of: client, context)
  }

  private func newest(
    in value: Operation.Value,
    from source: EntitySource,
    of client: OperationClient,
    _ context: OperationContext
  ) -> Operation.Value {
    let store = context.runningOperationStore?.reference
    return self.replace(value) { part in
      self.parts.groups.reduce(part) { part, group in group.newest(in: part, from: source, of: client, in: store) }
    }
  }
}

/// Gives each run the number of its beginning, which all its attempts and pages have.
private struct EntityRunWrapper: OperationRunWrapper {
  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    _ body: (OperationContext) async -> (any Error)?
  ) async {
    var context = context
    let number = EntityClock.next()
    context[EntityRunNumberKey.self] = number
    context.addToOutcome(number, for: EntityRunNumberKey.self)
    _ = await body(context)
  }
}

/// The number of the beginning of a run.
enum EntityRunNumberKey: OperationContext.Key {
  static let defaultValue: Int? = nil
}

/// Whether a result has passed through the modifier.
enum EntityPassage: Sendable {
  /// Something around the modifier has answered.
  case none
  /// Its entities were compared with those that are known.
  case compared
  /// It was made of the values of other operations.
  case derived
}

enum EntityPassageKey: OperationContext.Key {
  static let defaultValue = EntityPassage.none
}
