import Operation

let observer = MockNetworkObserver(initialStatus: .connected)
