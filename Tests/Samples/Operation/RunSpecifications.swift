import Foundation
import Operation
import Synchronization

let observer = MockNetworkObserver(initialStatus: .connected)
let isNight = AsyncStream<Bool> { nil }
let lowPower = AlwaysRunSpecification(isTrue: false)
let online: NetworkConnectionRunSpecification = .connected(to: observer)
