import Foundation
import TestFixtures

/// A server in virtual time: how long a request takes, by chance and by the number of requests that it works on.
struct SimulatedServer: Sendable {
  enum Variation: Sendable {
    case none
    case logNormal(Double)
    /// Between half and one and a half times the base.
    case uniform
    /// One request of fifty takes twenty times as long.
    case tail
    /// A Pareto distribution with a shape of 1.7, whose variance is infinite.
    case pareto
    /// Requests of two kinds, such as hits and misses of a cache.
    case twoKinds
  }

  /// The requests that it works on at once; the others wait in its queue. Nil for any number.
  var slots: Int?
  var variation = Variation.none
  /// The duration of a request without load, by the time.
  var base: @Sendable (Double) -> Double = { _ in 0.02 }
  /// How many times longer a request takes with this many under way.
  var slowdown: @Sendable (Int) -> Double = { _ in 1 }
  /// The requests beyond which it fails others at once.
  var shedsBeyond = Int.max

  /// The duration of a request that begins now.
  func duration(at time: Double, concurrency: Int, using generator: inout SeededGenerator) -> Double {
    self.base(time) * self.factor(using: &generator) * self.slowdown(concurrency)
  }

  private func factor(using generator: inout SeededGenerator) -> Double {
    switch self.variation {
    case .none: 1
    case .logNormal(let sigma): exp(sigma * generator.normal())
    case .uniform: generator.unit() + 0.5
    case .tail: generator.unit() < 0.02 ? 20 : 1
    case .pareto: 0.4 * pow(1 - generator.unit(), -1 / 1.7)
    case .twoKinds: generator.unit() < 0.5 ? 0.3 : 1.7
    }
  }
}

/// The clients of a server in virtual time.
enum SimulatedLoad: Sendable {
  /// A number of clients, by the time, each of which sends its next request when it has an answer.
  case closed(@Sendable (Double) -> Int)
  /// Requests that come at random, at a rate by the time. Beyond two hundred waiting ones they are turned away.
  case open(@Sendable (Double) -> Double)
}

extension SeededGenerator {
  /// A number from 0 to 1, 1 excluded.
  mutating func unit() -> Double { Double(self.next() >> 11) / 9_007_199_254_740_992 }

  /// A number of the normal distribution (Box and Muller).
  mutating func normal() -> Double { (-2 * log(1 - self.unit())).squareRoot() * cos(2 * .pi * self.unit()) }

  /// The time to the next of events that come at random.
  mutating func interval(rate: Double) -> Double { -log(1 - self.unit()) / rate }
}
