#if SwiftOperationDevtools
  import Foundation
  import Operation
  import OperationDevtools
  import OperationScheduling

  /// A made-up shop in which something happens all the time.
  struct Shop: Sendable {
    private let simulation = Simulation()
    private let client: OperationClient
    private let devtools: Devtools
    private let limit = ConcurrencyLimit(4, name: "catalogue")
    private let breaker = CircuitBreaker(name: "payments", minimumRuns: 4)
    private let exports = OperationScheduler(maximumConcurrentOperations: 2, name: "exports")

    init(allowsActions: Bool, port: UInt16, token: String?) {
      let network = self.simulation.networkObserver()
      self.client = OperationClient(
        storeCache: OperationClient.DefaultStoreCache(memoryPressureSource: self.simulation.memoryPressureSource()),
        storeCreator: self.simulation.storeCreator(
          .default(
            retryLimit: 3,
            backoff: .constant(.milliseconds(700)),
            networkObserver: network,
            activityObserver: nil
          )
        )
      )
      self.devtools = Devtools(
        self.client,
        allowsActions: allowsActions,
        simulation: self.simulation,
        port: port,
        token: token
      )
    }

    func run() async throws {
      self.devtools.show { [limit, breaker] in [limit.snapshot(), breaker.snapshot()] }
      self.devtools.showWaits(of: self.exports)
      DevtoolsSubject.say(try await self.devtools.start())
      let subscriptions = self.subscribe()
      let buying = Task { await self.buy() }
      let exporting = Task { await self.export() }
      for await _ in DevtoolsSubject.commands {}
      buying.cancel()
      exporting.cancel()
      self.exports.cancelAll()
      for subscription in subscriptions { subscription.cancel() }
      await self.devtools.stop()
    }

    private func subscribe() -> [OperationSubscription] {
      let products = (1...6).map {
        Product.Query(id: $0).networkMode(.online).limited(by: self.limit).stale(after: .seconds(8))
      }
      let stock = self.client.store(for: Stock.Query().rerun(every: .seconds(2)).networkMode(.online))
      let rates = self.client.store(
        for: ExchangeRate.Query(currency: "EUR").circuitBreaker(self.breaker).rerun(every: .seconds(5))
      )
      let session = self.client.store(for: Session.Query().stale(after: .seconds(3600)))
      return products.enumerated().map { index, query in
        self.client.store(for: query).subscribe(named: "ProductView \(index + 1)", with: QueryEventHandler())
      } + [
        stock.subscribe(named: "StockBadge", with: QueryEventHandler()),
        rates.subscribe(named: "PriceLabel", with: QueryEventHandler()),
        session.subscribe(with: QueryEventHandler()),
      ]
    }

    /// Exports what the shop has, again and again: some wait for a place, for each other, and for the disk.
    private func export() async {
      let deadlines = self.client.defaultContext.operationDeadlines
      let disk = OperationCategory("disk")
      while !Task.isCancelled {
        let parts = ["Products", "Orders", "Customers"].map { part in
          self.exports.schedule(
            Export(name: part, deadlines: deadlines).mutuallyExclusive(disk),
            named: "Export\(part)"
          )
        }
        let archive = self.exports.schedule(Export(name: "archive", deadlines: deadlines), named: "WriteArchive") {
          archive in
          for part in parts { archive.addDependency(part) }
        }
        let upload = self.exports.schedule(Export(name: "upload", deadlines: deadlines), named: "UploadArchive") {
          upload in
          upload.addDependency(archive)
        }
        _ = try? await upload.value
        if (try? await deadlines.sleep(for: .seconds(1))) == nil { return }
      }
    }

    /// Buys something now and then, which invalidates what the shop has.
    private func buy() async {
      let order = self.client.store(for: PlaceOrder().invalidates(matching: ["shop", "products"]))
      var number = 0
      while (try? await self.client.defaultContext.operationDeadlines.sleep(for: .seconds(3))) != nil {
        number += 1
        _ = try? await order.mutate(with: PlaceOrder.Arguments(product: number % 6 + 1, card: CardNumber("4711")))
        let product = self.client.store(for: Product.Query(id: number % 6 + 1))
        async let first = try? product.fetch()
        async let second = try? product.fetch()
        _ = await (first, second)
      }
    }
  }

  /// The number of a card, which nobody may see.
  struct CardNumber: Hashable, Sendable, OperationSecret {
    let digits: String

    init(_ digits: String) {
      self.digits = digits
    }
  }
#endif
