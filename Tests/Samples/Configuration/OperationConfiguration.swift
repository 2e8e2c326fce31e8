import Configuration
import Operation

let reader: ConfigReader = sample()
