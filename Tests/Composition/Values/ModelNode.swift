import Foundation
import Operation
import OperationDerivation
import OperationEntities
import OperationFallback
import OperationFleet
import OperationPersistence
import TestFixtures

typealias ReadingState = QueryState<Reading, any Error>
typealias ReadingPagesState = PaginatedState<Int, Reading, any Error>

/// One process of the model: a client with a storage, in a fleet.
final class ModelNode: Sendable {
  let number: Int
  let client: OperationClient
  let storage: ProcessStorage
  let connection: InMemoryFleetConnection
  let fleetNode: FleetNode
  let items: [ModelItem]
  let service: ModelService
  /// The user who is signed in.
  let user: Box<Int>
  private let runDuration: Duration
  private let notices: OperationSubscription
  /// Whether it has removed its stores, because another process has emptied their storage.
  let hasClearedStores = Box(false)
  /// Whether edits are stored before they are sent.
  let journalsEdits: Bool

  init(
    number: Int,
    items: [ModelItem],
    service: ModelService,
    storage: ProcessStorage,
    fleet: InMemoryFleet,
    clock: EventClock,
    executor: SteppedExecutor,
    identity: UInt64,
    user: Int,
    runDuration: Duration,
    journalsEdits: Bool
  ) {
    self.number = number
    self.items = items
    self.service = service
    self.user = Box(user)
    self.runDuration = runDuration
    self.journalsEdits = journalsEdits
    self.storage = storage
    var context = OperationContext()
    let time = SkewedTime(of: clock, rate: 1, offset: Double(number / 2) * 1_000)
    context.operationDeadlines = time
    context.operationClock = time
    context.operationTaskConfiguration.executorPreference = executor
    context.operationStorage = self.storage
    self.client = OperationClient(defaultContext: context)
    self.connection = fleet.connect(as: "\(number)")
    let settings = FleetSettings(
      nodeName: "\(number)",
      lookupTimeout: .milliseconds(500),
      leaseDuration: .seconds(3),
      heartbeat: .seconds(5)
    )
    self.fleetNode = self.client.join(self.connection, settings: settings, identity: identity)
    let (client, hasClearedStores) = (self.client, self.hasClearedStores)
    // What the documentation recommends.
    self.notices = client.onNotice { [weak client] notice in
      guard notice.name == .storageCleared else { return }
      hasClearedStores.value = true
      client?.clearStores()
    }
    if journalsEdits { self.addJournal(startedAs: identity) }
  }

  // MARK: - Operations

  func query(_ number: Int) -> ReadingQuery {
    let item = self.items[number]
    var query = ReadingQuery(ServiceQuery(item: item, node: self))
    if item.hasFallback {
      let fallback = Reading(item: number, node: self.number, time: 0, user: 0, isFallback: true)
      query = ReadingQuery(query.fallback(fallback))
    }
    if item.servesStale {
      query = ReadingQuery(query.servesStale(onFailureFor: .seconds(600), retriesAfter: .seconds(item.number)))
    }
    if item.cachesFailures { query = ReadingQuery(query.cachesFailures(for: .seconds(3))) }
    if item.saysTime { query = ReadingQuery(query.keepsFor { _ in .seconds(50_000) }) }
    if item.isTagged {
      query = ReadingQuery(query.tagged { [.entity("group", $0.item % 2)] })
    }
    if !item.sources.isEmpty, !item.isSharedInside { query = ReadingQuery(query.derived()) }
    query = self.shared(query, item)
    if item.hasEntities { query = ReadingQuery(query.entities { $0.one(\.self) }) }
    if item.isPersisted { query = ReadingQuery(query.persisted(as: "reading")) }
    if item.isHydratable { query = ReadingQuery(query.hydratable(as: "reading")) }
    if !item.sources.isEmpty, item.isSharedInside { query = ReadingQuery(query.derived()) }
    if item.isPolled { query = ReadingQuery(query.rerun(every: { state, _ in .seconds(state.error == nil ? 2 : 3) })) }
    if item.isDropped { query = ReadingQuery(query.cacheTime(.seconds(1))) }
    return ReadingQuery(query.stale(after: .seconds(100_000)).enableAutomaticRunning(onlyWhen: .always(true)))
  }

  private func shared(_ query: ReadingQuery, _ item: ModelItem) -> ReadingQuery {
    let timeToLive = Duration.seconds(3_600)
    if item.isShared { return ReadingQuery(query.sharedInFleet(as: "reading", timeToLive: timeToLive)) }
    guard item.isKeptInFleet else { return query }
    return ReadingQuery(
      query.kept(in: self.fleetNode, as: "kept", maximumAge: timeToLive) { reading in
        Array(try JSONEncoder().encode(reading))
      } decode: { bytes in
        try JSONDecoder().decode(Reading.self, from: Data(bytes))
      }
    )
  }

  /// A list of three pages.
  func list(_ item: ModelItem) -> some PaginatedRequest<Int, Reading, any Error> & Sendable {
    ServiceList(item: item, node: self)
      .entities { if item.hasEntities { $0.one(\.self) } }
      .tagged { [.entity("group", $0.item % 2)] }
      .persisted(as: "list").hydratable(as: "list")
      .stale(after: .seconds(100_000)).enableAutomaticRunning(onlyWhen: .always(true))
  }

  func store(_ number: Int) -> OperationStore<ReadingState> { self.client.store(for: self.query(number)) }

  func store(ofList item: ModelItem) -> OperationStore<ReadingPagesState> { self.client.store(for: self.list(item)) }

  fileprivate func read(
    _ item: ModelItem,
    in context: OperationContext,
    with continuation: OperationContinuation<Reading, any Error>
  ) async throws -> Reading {
    var reading = Reading(
      item: item.number,
      node: self.number,
      time: self.service.beginRun(),
      user: self.user.value
    )
    for source in item.sources {
      let value =
        self.items[source].isSelected
        ? try await context.value(of: self.query(source), select: \.self)
        : try await context.value(of: self.query(source))
      reading.sources.append(value)
      reading.edits += value.edits
    }
    if item.yieldsFirst {
      var draft = reading
      draft.isDraft = true
      continuation.yield(draft)
    }
    if item.sources.isEmpty { try await context.operationDeadlines.sleep(for: self.runDuration) }
    if self.service.isFailing(item.number) { throw Refused() }
    return reading
  }
}

/// Reads the pages of the service for a node.
private struct ServiceList: PaginatedRequest {
  let item: ModelItem
  weak var node: ModelNode?

  let initialPageId = 0
  var path: OperationPath { self.item.path }

  func pageId(
    after page: Page<Int, Reading>,
    using paging: Paging<Int, Reading>,
    in context: OperationContext
  ) -> Int? {
    page.id < 2 ? page.id + 1 : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, Reading>,
    in context: OperationContext,
    with continuation: OperationContinuation<Reading, any Error>
  ) async throws -> Reading {
    guard let node else { throw CancellationError() }
    return try await node.read(self.item, in: context, with: continuation)
  }
}

/// Reads the service for a node.
private struct ServiceQuery: QueryRequest {
  let item: ModelItem
  weak var node: ModelNode?

  var path: OperationPath { self.item.path }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Reading, any Error>
  ) async throws -> Reading {
    guard let node else { throw CancellationError() }
    return try await node.read(self.item, in: context, with: continuation)
  }
}
