
stripesF
data
filters
filters_bias	responses"Conv*

kernel	*

stride
	responses	responses"Relu4
	responsesenergy"AveragePool*
global_pooling#
energy
sum
sum_biaslogits"FC
logits	direction"Softmax:data:filters:filters_bias:sum:sum_biasB	direction