// The tests of the canary of Scripts/check-sanitizers: one is sound, each of the others has one fault.

import Foundation
import Synchronization
import Testing

final class Counter: @unchecked Sendable {
  // Unguarded on purpose.
  var value = 0
  let first = Mutex(())
  let second = Mutex(())
  let turn = Atomic(0)
}

/// A value that is copied on write.
struct Shared<Number: ExpressibleByIntegerLiteral>: @unchecked Sendable {
  final class Storage {
    var value: Number = 0
  }

  private var storage = Storage()

  var value: Number {
    get { self.storage.value }
    set {
      if !isKnownUniquelyReferenced(&self.storage) { self.storage = Storage() }
      self.storage.value = newValue
    }
  }
}

protocol Valued {
  var value: Int { get set }
}

extension Shared<Int>: Valued {}

extension Array: Valued where Element == Int {
  var value: Int {
    get { self.last ?? 0 }
    set { self = self.count < 2 ? self + [newValue] : [] }
  }
}

final class Holder<Content: Valued>: @unchecked Sendable {
  // Guarded by the lock.
  private var content: Content
  private let lock = Mutex(())

  init(_ content: Content) {
    self.content = content
  }

  func set(_ value: Int) {
    self.lock.withLock { _ in self.content.value = value }
  }

  /// Reads and drops a copy after the lock.
  func read() -> Int {
    let copy = self.lock.withLock { _ in self.content }
    return copy.value
  }
}

func setAndRead<Content>(_ holder: Holder<Content>) async {
  await withTaskGroup(of: Void.self) { group in
    group.addTask { for number in 0..<20_000 { holder.set(number) } }
    group.addTask { for _ in 0..<20_000 { #expect(holder.read() < 20_000) } }
  }
}

/// What needs Scripts/ThreadSanitizer to be recognised as sound: a contended lock, continuations resumed early, and
/// copies on write.
@Test func sound() async throws {
  await setAndRead(Holder(Shared<Int>()))
  await setAndRead(Holder([]))

  let counter = Counter()
  await withTaskGroup(of: Void.self) { group in
    for _ in 0..<4 {
      group.addTask { for _ in 0..<20_000 { counter.first.withLock { _ in counter.value += 1 } } }
    }
  }
  #expect(counter.value == 80_000)

  for _ in 0..<10_000 {
    let counter = Counter()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        counter.value += 1
        continuation.resume()
      }
    }
    counter.value += 1
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      Task {
        counter.value += 1
        continuation.resume()
      }
    }
    counter.value += 1
    await withUnsafeContinuation { continuation in
      Task {
        counter.value += 1
        continuation.resume()
      }
    }
    #expect(counter.value == 5)
  }
}

/// Two threads take turns in a way that orders nothing.
func takeTurns(
  _ counter: Counter,
  one: @escaping @Sendable () -> Void,
  other: @escaping @Sendable () -> Void
) {
  Thread.detachNewThread {
    while counter.turn.load(ordering: .relaxed) != 1 {}
    other()
    counter.turn.store(2, ordering: .relaxed)
  }
  one()
  counter.turn.store(1, ordering: .relaxed)
  while counter.turn.load(ordering: .relaxed) != 2 {}
}

@Test func plainRace() {
  let counter = Counter()
  takeTurns(counter) {
    counter.value += 1
  } other: {
    counter.value += 1
  }
  #expect(counter.turn.load(ordering: .relaxed) == 2)
}

@Test func raceUnderTwoLocks() {
  let counter = Counter()
  takeTurns(counter) {
    counter.first.withLock { _ in counter.value += 1 }
  } other: {
    counter.second.withLock { _ in counter.value += 1 }
  }
  #expect(counter.turn.load(ordering: .relaxed) == 2)
}

@Test func useAfterFree() {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  numbers.initialize(repeating: 1, count: 4)
  numbers.deallocate()
  #expect(numbers[2] != 2)
}

final class Link {
  var next: Link?
}

@Test func leak() {
  let link = Link()
  link.next = Link()
  link.next?.next = link
  #expect(link.next != nil)
}
